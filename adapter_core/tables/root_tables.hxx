// Arrays to columns of a TTree or RNTuple and back, in bulk: Python would make a call for each value.
// root_native.py declares this to ROOT's interpreter.

#include <ROOT/RNTupleModel.hxx>
#include <ROOT/RNTupleReader.hxx>
#include <ROOT/RNTupleWriteOptions.hxx>
#include <ROOT/RNTupleWriter.hxx>
#include <TBranch.h>
#include <TBufferFile.h>
#include <TFile.h>
#include <TTree.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <memory>
#include <set>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace format_bench {

// The bytes of a value as text, for conditions of RDataFrame.
template <class Bytes>
std::string_view Text(const Bytes &bytes)
{
   return {reinterpret_cast<const char *>(bytes.data()), bytes.size()};
}

// A branch with one value a row, read into a variable when a row asks for it.
template <class Value>
class BoundBranch {
   TBranch *fBranch = nullptr;
   Value fValue{};
   Long64_t fRow = -1;

public:
   BoundBranch(TTree &tree, const char *name)
   {
      if (tree.SetBranchAddress(name, &fValue, &fBranch) < 0)
         throw std::runtime_error(std::string("no branch ") + name + " of this type");
   }
   BoundBranch(const BoundBranch &) = delete; // the tree has the address of the variable
   ~BoundBranch() { fBranch->ResetAddress(); }

   Value At(Long64_t row)
   {
      if (row != fRow && fBranch->GetEntry(row) <= 0)
         throw std::runtime_error("a row cannot be read");
      fRow = row;
      return fValue;
   }
};

// One value of `width` bytes a row, or a list of bytes if there are offsets.
struct Column {
   std::string name;
   std::string type;
   std::size_t width;
   const char *values;
   const std::int64_t *offsets;

   Column(std::string name_, std::string type_, std::size_t width_, std::uintptr_t values_, std::uintptr_t offsets_)
      : name(std::move(name_)), type(std::move(type_)), width(width_),
        values(reinterpret_cast<const char *>(values_)), offsets(reinterpret_cast<const std::int64_t *>(offsets_))
   {
   }
};

struct Lists {
   std::vector<std::int64_t> offsets{0};
   std::vector<std::uint8_t> bytes;
};

inline void WriteRNTuple(TFile &file, const std::string &name, std::size_t rows, const std::vector<Column> &columns,
                         int compression)
{
   auto model = ROOT::RNTupleModel::CreateBare();
   for (const auto &each : columns)
      model->AddField(ROOT::RFieldBase::Create(each.name, each.type).Unwrap());
   ROOT::RNTupleWriteOptions options;
   options.SetCompression(compression);
   auto writer = ROOT::RNTupleWriter::Append(std::move(model), name, file, options);
   auto entry = writer->GetModel().CreateBareEntry();
   std::vector<std::vector<char>> slots(columns.size());
   std::vector<std::vector<unsigned char>> lists(columns.size());
   for (std::size_t i = 0; i < columns.size(); ++i) {
      slots[i].resize(columns[i].width);
      void *slot = columns[i].offsets ? static_cast<void *>(&lists[i]) : slots[i].data();
      entry->BindRawPtr<void>(columns[i].name, slot);
   }
   for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
         const auto &each = columns[i];
         if (each.offsets)
            lists[i].assign(each.values + each.offsets[row], each.values + each.offsets[row + 1]);
         else
            std::memcpy(slots[i].data(), each.values + row * each.width, each.width);
      }
      writer->Fill(*entry);
   }
   writer->CommitDataset();
}

class RNTupleTable {
   using Size = ROOT::RNTupleCardinality<std::uint64_t>;
   std::unique_ptr<ROOT::RNTupleReader> fReader;
   struct Cluster {
      std::size_t first, rows;
      ROOT::RNTupleLocalIndex start;
   };
   std::vector<Cluster> fClusters;

   // Calls a function with each cluster that has rows of a range, and with this part of its rows.
   template <typename Take>
   void ForEachCluster(std::size_t first, std::size_t last, Take take)
   {
      for (const auto &each : fClusters) {
         const auto from = std::max(each.first, first), to = std::min(each.first + each.rows, last);
         if (from < to)
            take(each, from - each.first, to - each.first);
      }
   }

public:
   RNTupleTable(const std::string &path, const std::string &name) : fReader(ROOT::RNTupleReader::Open(name, path))
   {
      for (const auto &each : fReader->GetDescriptor().GetClusterIterable())
         fClusters.push_back({each.GetFirstEntryIndex(), each.GetNEntries(), {each.GetId(), 0}});
      std::sort(fClusters.begin(), fClusters.end(), [](auto &a, auto &b) { return a.first < b.first; });
   }

   std::size_t Rows() const { return fReader->GetNEntries(); }

   // Type of each field, by name.
   std::map<std::string, std::string> Types() const
   {
      std::map<std::string, std::string> types;
      for (const auto &each : fReader->GetDescriptor().GetTopLevelFields())
         types[each.GetFieldName()] = each.GetTypeName();
      return types;
   }

   // ROOT's number of codec and level; -1 for a table without values.
   int Compression() const
   {
      for (const auto &cluster : fReader->GetDescriptor().GetClusterIterable())
         for (const auto &column : cluster.GetColumnRangeIterable())
            return column.GetCompressionSettings().value_or(-1);
      return -1;
   }

   // Values of the rows from `first` to before `last`.
   void ReadValues(const std::string &name, std::size_t width, std::uintptr_t values, std::size_t first,
                   std::size_t last)
   {
      auto view = fReader->GetView<void>(name, nullptr);
      if (view.GetField().GetValueSize() != width)
         throw std::runtime_error("the values of " + name + " have another size");
      ForEachCluster(first, last, [&](const Cluster &each, std::size_t from, std::size_t to) {
         auto bulk = view.CreateBulk();
         bulk.AdoptBuffer(reinterpret_cast<char *>(values) + (each.first + from - first) * width, to - from);
         bulk.ReadBulk({each.start.GetClusterId(), from}, nullptr, to - from);
      });
   }

   Lists ReadLists(const std::string &name, std::size_t first, std::size_t last)
   {
      Lists lists;
      lists.offsets.reserve(last - first + 1);
      auto sizes = fReader->GetView<Size>(name);
      auto items = fReader->GetCollectionView(name).GetView<std::uint8_t>("_0");
      ForEachCluster(first, last, [&](const Cluster &each, std::size_t from, std::size_t to) {
         const auto before = lists.bytes.size();
         auto end = before;
         std::uint64_t skipped = 0;
         auto sizesOfRows = sizes.CreateBulk();
         const auto size = static_cast<const Size *>(sizesOfRows.ReadBulk(each.start, nullptr, to));
         for (std::size_t i = 0; i < from; ++i)
            skipped += size[i];
         for (std::size_t i = from; i < to; ++i)
            lists.offsets.push_back(end += size[i]);
         if (end == before)
            return;
         lists.bytes.resize(end);
         auto bulk = items.CreateBulk();
         bulk.AdoptBuffer(&lists.bytes[before], end - before);
         bulk.ReadBulk({each.start.GetClusterId(), skipped}, nullptr, end - before);
      });
      return lists;
   }
};

inline void WriteTTree(TFile &file, const std::string &name, std::size_t rows, const std::vector<Column> &columns)
{
   TTree tree(name.c_str(), "", 99, &file);
   tree.SetAutoSave(0); // by default the description is written again every 300 MB
   std::vector<std::vector<char>> slots(columns.size());
   std::vector<std::int32_t> sizes(columns.size());
   for (std::size_t i = 0; i < columns.size(); ++i) {
      const auto &each = columns[i];
      std::size_t longest = each.width;
      if (each.offsets) {
         for (std::size_t row = 0; row < rows; ++row)
            longest = std::max<std::size_t>(longest, each.offsets[row + 1] - each.offsets[row]);
         const auto size = each.name + "__size";
         tree.Branch(size.c_str(), &sizes[i], (size + "/I").c_str());
      }
      slots[i].resize(longest);
      tree.Branch(each.name.c_str(), slots[i].data(), each.type.c_str());
   }
   for (std::size_t row = 0; row < rows; ++row) {
      for (std::size_t i = 0; i < columns.size(); ++i) {
         const auto &each = columns[i];
         if (each.offsets) {
            sizes[i] = each.offsets[row + 1] - each.offsets[row];
            std::memcpy(slots[i].data(), each.values + each.offsets[row], sizes[i]);
         } else {
            std::memcpy(slots[i].data(), each.values + row * each.width, each.width);
         }
      }
      if (tree.Fill() < 0)
         throw std::runtime_error("a row could not be written");
   }
   tree.Write();
   tree.SetDirectory(nullptr);
}

class TTreeTable {
   TTree &fTree;
   TBufferFile fBuffer{TBuffer::kWrite, 32 * 1024};

   TBranch &Branch(const std::string &name) const
   {
      auto branch = fTree.GetBranch(name.c_str());
      if (!branch)
         throw std::runtime_error("there is no branch " + name);
      return *branch;
   }

   // Calls a function with each decompressed basket that has rows of a range; values are still big-endian.
   template <typename Take>
   void ForEachBasket(const std::string &name, std::size_t first, std::size_t last, Take take)
   {
      if (first >= last)
         return;
      auto &branch = Branch(name);
      for (std::size_t row = BasketStart(name, first); row < last;) {
         const auto count = branch.GetBulkRead().GetEntriesSerialized(row, fBuffer);
         if (count <= 0)
            throw std::runtime_error("a basket of " + name + " cannot be read");
         take(row, count, fBuffer.GetCurrent());
         row += count;
      }
   }

public:
   explicit TTreeTable(TTree &tree) : fTree(tree) {}

   std::size_t Rows() const { return fTree.GetEntries(); }

   // First row of the basket that contains a row.
   std::size_t BasketStart(const std::string &name, std::size_t row) const
   {
      auto &branch = Branch(name);
      const auto begins = branch.GetBasketEntry();
      const auto end = begins + branch.GetWriteBasket() + 1;
      return *(std::upper_bound(begins, end, static_cast<Long64_t>(row)) - 1);
   }

   // Values of the rows from `first` to before `last`.
   void ReadValues(const std::string &name, std::size_t width, std::uintptr_t values, std::size_t first,
                   std::size_t last)
   {
      ForEachBasket(name, first, last, [&](std::size_t row, std::size_t count, const char *basket) {
         const auto from = std::max(row, first), to = std::min(row + count, last);
         std::memcpy(reinterpret_cast<char *>(values) + (from - first) * width, basket + (from - row) * width,
                     (to - from) * width);
      });
   }

   // Bytes of the rows from `first`, which starts a basket, to before `last`; the offsets have the length of each.
   void ReadLists(const std::string &name, std::uintptr_t offsets, std::uintptr_t bytes, std::size_t first,
                  std::size_t last)
   {
      const auto begins = reinterpret_cast<const std::int64_t *>(offsets);
      ForEachBasket(name, first, last, [&](std::size_t row, std::size_t count, const char *basket) {
         const auto from = begins[row - first], to = begins[std::min(row + count, last) - first];
         std::memcpy(reinterpret_cast<char *>(bytes) + from, basket, to - from);
      });
   }
};

}  // namespace format_bench
